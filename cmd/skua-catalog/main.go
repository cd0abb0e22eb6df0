// Command skua-catalog is every bundled catalog in one plugin program. The server runs `skua-catalog TYPE`, one process for each catalog.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/skua-data/skua/plugins/sdk"
)

// version is the release's, as the server's is.
const version = "0.1.0"

func main() {
	if !sdk.Launched() {
		os.Exit(byHand(os.Args[1:], os.Stdout, os.Stderr))
	}
	sdk.Serve(constructor, sdk.WithVersion(version))
}

// byHand answers whoever starts the program at a terminal; it gives the exit status.
func byHand(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage())
		return 2
	}
	switch args[0] {
	case "-h", "--help", "help":
		fmt.Fprint(stdout, usage())
		return 0
	case "-v", "--version", "version":
		fmt.Fprintf(stdout, "skua-catalog %s (plugin protocol %d)\n", version, sdk.ProtocolVersion)
		return 0
	}
	if _, err := constructor(args[0]); err != nil {
		fmt.Fprintf(stderr, "skua-catalog: %v\n", err)
		return 2
	}
	fmt.Fprintf(stderr, `skua-catalog %[1]s is started by the Skua server and does nothing by hand. Configure a catalog of that type and ask the server:

  spark.sql.catalog.NAME       org.apache.iceberg.spark.SparkCatalog
  spark.sql.catalog.NAME.type  %[1]s
`, args[0])
	return 1
}

func usage() string {
	text := `skua-catalog TYPE serves a catalog to the Skua server, which starts it from its plugin folder. There is no need to run it by hand.

Types in this build:
`
	for _, t := range bundled() {
		text += fmt.Sprintf("  %-8s %s\n", t.name, t.about)
	}
	return text + `
Flags:
  --help     this text
  --version  the version, and that of the protocol
`
}
