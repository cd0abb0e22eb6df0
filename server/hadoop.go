package server

import (
	"strings"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/storage/hadoopconf"
)

// hadoop gives what spark.hadoop.* sets for every catalog, as properties of a catalog.
func (r *reading) hadoop() map[string]string {
	out := map[string]string{}
	for _, s := range r.settings.All() {
		if name, ok := strings.CutPrefix(s.Key, "spark."+hadoopconf.Prefix); ok && name != "" {
			out[hadoopconf.Prefix+name] = s.Value
		}
	}
	return out
}

// siteFamilies are the beginnings of the settings in Hadoop's files that concern stores.
var siteFamilies = []string{"fs.", "dfs.", "ipc.", "hadoop.security.", "google.cloud."}

// addHadoop gives a catalog what spark.hadoop.* and Hadoop's configuration files say and its own properties do not.
func (r *reading) addHadoop(d *catalogs.Definition) error {
	for k, v := range r.hadoop() {
		if _, own := d.Properties[k]; !own {
			d.Properties[k] = v
		}
	}
	site, err := hadoopconf.Load(hadoopconf.Folder(d.Properties))
	if err != nil {
		return err
	}
	for k, v := range site {
		if _, own := d.Properties[hadoopconf.Prefix+k]; !own && beginsWithOne(k, siteFamilies) {
			d.Properties[hadoopconf.Prefix+k] = v
		}
	}
	return nil
}

func beginsWithOne(name string, beginnings []string) bool {
	for _, b := range beginnings {
		if strings.HasPrefix(name, b) {
			return true
		}
	}
	return false
}

// idle says which properties have no effect in the store that they are for, with what stands before their names in the configuration.
func idle(properties map[string]string, before string) []string {
	var out []string
	for _, k := range kinds() {
		if k.Idle == nil {
			continue
		}
		for _, line := range k.Idle(properties) {
			out = append(out, before+line)
		}
	}
	return out
}
