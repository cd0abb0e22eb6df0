// Command skua-conformance holds a Flight SQL server, or a catalog plugin, against scripts and recorded answers, and tells what came out otherwise.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{
		Use:           "skua-conformance",
		Short:         "Hold a Flight SQL server over Iceberg, or a catalog plugin, against scripts and recorded answers",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(runCommand(), diffCommand(), completeCommand(), listCommand(), oracleCommand(), catalogCommand())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "skua-conformance: "+err.Error())
		os.Exit(1)
	}
}
