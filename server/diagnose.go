package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/plugins/host"
)

// diagnoseTimeout bounds what one catalog may take.
const diagnoseTimeout = 30 * time.Second

// Diagnose opens every configured catalog through its plugin, lists its root, and writes what works and what does not. It returns the number
// of problems.
func Diagnose(ctx context.Context, w io.Writer, s *Settings) (problems int) {
	config, err := NewConfig(s)
	if err != nil {
		fmt.Fprintln(w, err)
		return 1
	}
	for _, warning := range config.Warnings {
		fmt.Fprintln(w, "warning: "+warning)
	}
	decode := newDecoders(ctx, config, slog.New(slog.DiscardHandler))
	decode.write(w)
	if err := decode.Close(); err != nil {
		fmt.Fprintf(w, "gpu: %v\n", err)
		problems++
	}
	if len(config.Catalogs) == 0 {
		fmt.Fprintln(w, "no catalog is configured; set spark.sql.catalog.<name>, or try: skua serve --demo")
		return problems + 1
	}
	return problems + openAll(ctx, w, config)
}

// openAll opens every catalog through its plugin and lists its root; it writes a line for each and returns how many failed.
func openAll(ctx context.Context, w io.Writer, config Config) (failed int) {
	folder, err := executableFolder(config.PluginFolder)
	if err != nil {
		fmt.Fprintf(w, "plugins: %v\n", err)
		return len(config.Catalogs)
	}
	launcher, err := host.New(host.Config{Folder: folder, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Fprintf(w, "plugins: %v\n", err)
		return len(config.Catalogs)
	}
	defer launcher.Close()
	for _, d := range config.Catalogs {
		if err := diagnose(ctx, w, launcher, d, config); err != nil {
			fmt.Fprintf(w, "catalog %s: FAILED: %v\n", d.Name, err)
			failed++
		}
	}
	return failed
}

func diagnose(ctx context.Context, w io.Writer, launcher *host.Host, d catalogs.Definition, config Config) (err error) {
	ctx, cancel := context.WithTimeout(ctx, diagnoseTimeout)
	defer cancel()
	started := time.Now()
	catalog, err := launcher.Open(ctx, d, config.Locations)
	if err != nil {
		return err
	}
	defer catalog.Close()
	namespaces := 0
	for _, err := range catalog.Namespaces(ctx, nil) {
		if err != nil {
			return err
		}
		namespaces++
	}
	fmt.Fprintf(w, "catalog %s: ok (%d namespaces at the root, %d ms)\n", d.Name, namespaces, time.Since(started).Milliseconds())
	return nil
}
