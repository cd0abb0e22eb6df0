// Command start starts real catalogs and stores by name and keeps them until it is interrupted: go run ./conformance/servers/start s3 hive4
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/skua-data/skua/conformance/servers/launch"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run starts the servers, prints where they are, and waits. An argument is a name, or name,key=value,… with settings.
func run(arguments []string) error {
	if len(arguments) == 0 || strings.HasPrefix(arguments[0], "-") {
		return fmt.Errorf("usage: start NAME[,KEY=VALUE...]...\n%s", launch.About())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	for _, argument := range arguments {
		words := strings.Split(argument, ",")
		settings := launch.Settings{}
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			settings[key] = value
		}
		server, err := launch.Start(ctx, words[0], settings)
		if err != nil {
			return err
		}
		defer func() { _ = server.Stop() }()
		fmt.Println(words[0], server.Address, server.Client)
	}
	<-ctx.Done()
	return nil
}
