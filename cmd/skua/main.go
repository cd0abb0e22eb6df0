// Command skua serves Apache Iceberg tables over Arrow Flight SQL, and is its own client: `serve`, `sql`, `demo`, `config`, `doctor`.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/skua-data/skua/server"
)

func main() {
	if err := execute(context.Background(), newRoot()); err != nil {
		fmt.Fprintln(os.Stderr, "skua: "+err.Error())
		os.Exit(1)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "skua",
		Short: "Arrow Flight SQL scan server over Apache Iceberg",
		Long: `Skua serves Iceberg tables to BI tools, notebooks and jobs over Arrow Flight SQL.

Start here:
  skua serve --demo                     a server over a small demo warehouse
  skua serve --properties-file FILE     a server over your catalogs; FILE is a spark-defaults.conf
  skua sql --uri grpc://127.0.0.1:31337 an SQL shell for any Flight SQL server
  skua config check --properties-file FILE   what each key means here, and what Skua cannot honour`,
		Version:       server.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetHelpCommand(helpCommand())
	root.AddCommand(serveCommand(), sqlCommand(), demoCommand(), configCommand(), doctorCommand(), userCommand())
	return root
}
