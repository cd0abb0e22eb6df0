package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/conformance"
	"github.com/skua-data/skua/conformance/inprocess"
	"github.com/skua-data/skua/conformance/plugintest"
	"github.com/skua-data/skua/conformance/report"
	"github.com/skua-data/skua/storage"
)

func catalogCommand() *cobra.Command {
	var what choice
	var into outputs
	var conf []string
	var name, content string
	var noScripts bool
	command := &cobra.Command{
		Use:   "catalog PLUGIN",
		Short: "Hold a catalog plugin's binary against the suite for catalogs and the read scripts",
		Long: `Hold a catalog plugin's binary against the suite that every catalog passes (catalogtest), and run the read scripts on a server in this process that has
the catalog under the name lake. The catalog's content is what its own listings tell, or what --content declares, a JSON file such as
{"namespaces": [["sales"]], "tables": [["sales", "orders"]]}. Scripts over reference tables that the catalog does not hold are skipped. Exits with 1 when
anything fails.`,
		Example: "  skua-conformance catalog ./my-plugin --conf uri=https://catalog.example --conf warehouse=s3://lake",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			profile, err := what.load()
			if err != nil {
				return err
			}
			plugin, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if info, err := os.Stat(plugin); err != nil || info.IsDir() {
				return fmt.Errorf("catalog: %s is no plugin's binary: %w", args[0], errors.Join(err))
			}
			properties, own, err := catalogProperties(conf)
			if err != nil {
				return err
			}
			mapped, err := locations(own)
			if err != nil {
				return err
			}
			if err := chosenType(c.Context(), plugin, name); err != nil {
				return err
			}
			started := time.Now()
			log := slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			outcomes, err := plugintest.Run(c.Context(), plugintest.Config{Plugin: plugin, Type: name, Properties: properties, Locations: mapped, Content: content, Limit: what.perCase, Log: log})
			if err != nil {
				return err
			}
			if len(outcomes) == 0 {
				return fmt.Errorf("catalog: nothing was checked: no test of the suite for catalogs ran over what %s holds", args[0])
			}
			fmt.Fprintf(c.OutOrStdout(), "the suite for catalogs, over what %s lists or declares: %s\n", filepath.Base(plugin), report.Count(outcomes))
			if !noScripts {
				more, err := readScripts(c.Context(), what, profile, plugin, name, properties, own, log)
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "the read scripts, through a server with the plugin's catalog: %s\n", report.Count(more))
				outcomes = append(outcomes, more...)
			}
			return into.write(c.OutOrStdout(), report.Run{Title: filepath.Base(plugin), Profile: profile.Name, Started: started, Outcomes: outcomes})
		},
	}
	what.flags(command)
	into.flags(command)
	command.Flags().StringArrayVar(&conf, "conf", nil, "`key=value`: a property of the catalog, or a setting of the server (skua.*, spark.*); may be given several times")
	command.Flags().StringVar(&name, "type", "", "the catalog type that the plugin serves, for plugins that serve several")
	command.Flags().StringVar(&content, "content", "", "a `file` that declares what the catalog holds; without it, what its listings tell")
	command.Flags().BoolVar(&noScripts, "no-scripts", false, "leave the read scripts out")
	return command
}

// bundledName is the program that serves every bundled catalog, by its type.
const bundledName = "skua-catalog"

// chosenType makes sure that a binary which serves several types is told which. The binary tells its types by hand.
func chosenType(ctx context.Context, plugin, typ string) error {
	if typ != "" || strings.TrimSuffix(filepath.Base(plugin), ".exe") != bundledName {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	help, err := exec.CommandContext(ctx, plugin, "--help").Output()
	if err != nil {
		return fmt.Errorf("catalog: %s serves several types of catalogs; say which by --type: %w", plugin, err)
	}
	return fmt.Errorf("catalog: %s serves several types of catalogs; say which: --type %s", plugin, strings.Join(typesIn(string(help)), "|"))
}

// typesIn finds the types in what the program says of itself: the first words of the lines after the heading, up to an empty line.
func typesIn(help string) (out []string) {
	_, list, _ := strings.Cut(help, "Types in this build:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 {
			out = append(out, words[0])
		}
	}
	return out
}

// catalogProperties parts the catalog's properties from the server's settings.
func catalogProperties(conf []string) (properties, own map[string]string, err error) {
	properties, own = map[string]string{}, map[string]string{}
	for _, pair := range conf {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || key == "":
			return nil, nil, fmt.Errorf("--conf %q: expected key=value", pair)
		case strings.HasPrefix(key, "skua.") || strings.HasPrefix(key, "spark."):
			own[key] = value
		default:
			properties[key] = value
		}
	}
	return properties, own, nil
}

// locations reads the settings skua.location-map.N.from and .to.
func locations(own map[string]string) (storage.Map, error) {
	var out []storage.Mapping
	for key, from := range own {
		if name, ok := strings.CutSuffix(key, ".from"); ok && strings.HasPrefix(key, "skua.location-map.") {
			out = append(out, storage.Mapping{From: from, To: own[name+".to"]})
		}
	}
	return storage.NewMap(out)
}

// readScripts runs the scripts of the query path on a server of this process whose catalog lake is the plugin's.
func readScripts(ctx context.Context, what choice, p *conformance.Profile, plugin, kind string, properties, own map[string]string, log *slog.Logger) ([]conformance.Outcome, error) {
	const lake = "spark.sql.catalog.lake"
	settings := map[string]string{lake: "com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog", "skua.plugin.folder": filepath.Dir(plugin)}
	for key, value := range plugintest.Choose(plugin, kind) {
		settings[lake+"."+key] = value
	}
	for key, value := range properties {
		settings[lake+"."+key] = value
	}
	for key, value := range own {
		settings[key] = value
	}
	running, err := inprocess.Start(ctx, inprocess.Config{Settings: settings, Log: log})
	if err != nil {
		return nil, err
	}
	defer running.Stop()
	target := running.Target()
	config := what.config(target, p)
	config.Missing = probe(target, what.step)
	config.Cell = conformance.Cell{}.With(conformance.Catalog, filepath.Base(plugin))
	scripts, err := conformance.Bundled()
	if err != nil {
		return nil, err
	}
	scripts = slices.DeleteFunc(scripts, func(s *conformance.Script) bool { return !slices.Contains(s.All.On, conformance.Catalog) })
	return conformance.Run(ctx, config, scripts...), nil
}
