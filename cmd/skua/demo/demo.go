// Package demo makes the demo warehouse: a Hadoop-type Iceberg catalog in a folder, small enough for a first minute and rich enough to
// try evolution, deletes, branches and tags. It writes with iceberg-go and knows nothing of the server.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog/hadoop"
)

// Settings is the configuration that serves the warehouse in dir (absolute) as catalog demo, with the overrides of SET active.
func Settings(dir string) map[string]string {
	const prefix = "spark.sql.catalog.demo"
	return map[string]string{
		prefix:                        "com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog",
		prefix + ".type":              "hadoop",
		prefix + ".warehouse":         "file://" + filepath.ToSlash(dir),
		prefix + ".default-namespace": "shop",
		"spark.sql.defaultCatalog":    "demo",
	}
}

// Tour is three statements that show what the warehouse holds.
func Tour() []string {
	return []string{
		"SHOW TABLES IN demo.shop",
		"SELECT sale_id, sold_on, quantity, amount FROM demo.shop.sales WHERE sold_on = DATE '2025-06-01' AND amount > 2400 LIMIT 5",
		"SELECT count(*) FROM demo.web.events VERSION AS OF 'launch'",
	}
}

const (
	complete = ".skua-demo-complete"
	making   = ".skua-demo-making"
)

// Make makes the warehouse in dir unless it is there already, and reports whether it did. A folder that holds something else is left
// alone and is an error; what an interrupted Make left is made anew. say receives a line per table.
func Make(ctx context.Context, dir string, say func(format string, args ...any)) (made bool, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return false, err
	}
	if _, err := os.Stat(filepath.Join(dir, complete)); err == nil {
		return false, nil
	}
	if err := empty(dir); err != nil {
		return false, err
	}
	say("Making the demo warehouse in %s …", dir)
	marker := filepath.Join(dir, making)
	if err := os.WriteFile(marker, nil, 0o644); err != nil {
		return false, err
	}
	if err := Write(ctx, "file://"+filepath.ToSlash(dir), iceberg.Properties{}, say); err != nil {
		return false, fmt.Errorf("make the demo warehouse in %s: %w", dir, err)
	}
	return true, os.Rename(marker, filepath.Join(dir, complete))
}

// Write writes the warehouse's tables at a location, as iceberg-go's hadoop catalog of properties does; nothing must be there.
func Write(ctx context.Context, location string, properties iceberg.Properties, say func(format string, args ...any)) (err error) {
	catalog, err := hadoop.NewCatalog("demo", location, properties)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, catalog.Close()) }()
	for _, build := range []func(context.Context, *hadoop.Catalog, func(string, ...any)) error{makeShop, makeWeb} {
		if err := build(ctx, catalog, say); err != nil {
			return err
		}
	}
	return nil
}

// empty makes sure that dir exists and holds nothing, or only what an interrupted Make left.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(dir, 0o755)
	}
	if err != nil || len(entries) == 0 {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, making)); err != nil {
		return fmt.Errorf("%s is not empty and holds no demo warehouse; give another folder", dir)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
