// Package sdk is what the author of a catalog plugin starts from. It serves a catalogs.Catalog to a Skua server over a local socket and hides
// everything about processes and wires. It knows no catalog itself.
//
// # A plugin in an hour
//
// A plugin is one program. Its main calls Serve with a constructor; the example below is a whole plugin.
//
//  1. Implement catalogs.Catalog: Namespaces and Tables list, LoadNamespace and Load load, Capabilities says what the catalog can do beyond that, Close
//     frees. All of it may be called concurrently. Lists are in byte order.
//  2. Write a catalogs.Constructor. It gets the catalog's name and its properties (spark.sql.catalog.<name>.<key> arrives as <key>), checks them, and
//     returns at once: a catalog that is down fails its first call, not its opening. Its context ends when it returns; do not keep it.
//  3. Build the program and put it into the server's plugin folder, with execute permission.
//  4. Configure it:
//     spark.sql.catalog.mine               org.apache.iceberg.spark.SparkCatalog
//     spark.sql.catalog.mine.catalog-impl  com.example.MyCatalog
//     The file is com.example.MyCatalog, skua-catalog-com.example.MyCatalog or skua-catalog-MyCatalog; the first that exists is run. A name with a
//     path separator is refused.
//  5. SHOW NAMESPACES IN mine starts the process. Its log lines are in the server's log with catalog=mine.
//  6. Run catalogtest.Run from one test of yours: it is the suite that the bundled catalogs pass.
//
// The folder example beside this file is all of that, to be copied.
//
// # What to return
//
// A table is its metadata JSON and where that lies. A catalog that only knows the location (most do) sets MetadataLocation and leaves Metadata nil: the
// server reads the file. A catalog that receives the JSON anyway passes its bytes on unchanged, of any size. When LoadRequest.Held equals
// the current location, Metadata may stay nil too; announce that with Capabilities.Unchanged. Store credentials that a catalog hands out go into
// Table.Credentials with their expiry, and are asked for again before they expire, with LoadRequest.Fresh set.
//
// # What is optional
//
// Capabilities announce it, and nothing else does: Views and Files that are listed and loaded, References that LoadRequest.Reference may name,
// VendsCredentials, Unchanged, and Refresh of a catalog that keeps answers of its own, which LoadRequest.Fresh must go around. The server remembers loaded
// tables by itself, so most catalogs keep nothing. Table.Locations says where the paths of a table lie whose files moved. Reports and Partitions announce a method
// more: catalogs.Reporter is told of scans, catalogs.PartitionLister lists the partitions of tables of plain Parquet files, which Table.Files describes.
//
// # Bounds
//
// An operator bounds a plugin by properties that the host keeps to itself: plugin.memory-bytes, above which the process is ended, plugin.call-timeout-ms for each
// answer, plugin.start-timeout-ms, and plugin.sha256, which pins the file.
//
// # Errors
//
// Return errors of package fault: fault.NotFound for what does not exist, fault.Unavailable for a backend that cannot be reached, fault.Denied for
// what it refuses, fault.Unsupported with a text naming the feature for what you do not do. Kind, condition, object and setting arrive at the
// client. An error without a kind counts as a bug. A panic fails its call alone, with its stack in the log.
//
// # Contexts and listings
//
// A call's context ends when the client goes away, its statement is cancelled or its time is over: pass it to everything that waits. When the reader of a
// listing has had enough, the context ends too; there is no need to list more than was asked for.
//
// # Secrets
//
// Configuration comes over the socket, never in arguments or the environment. Values of properties whose keys look secret (secret, password, token,
// credential, access-key, sas, connection-string and such), passwords in URLs and authorization headers are taken out of every error and log line,
// in this process and again in the server. Do not log vended credentials.
//
// # Logs and output
//
// Serve makes slog's default logger, and the log package's, write to the server's log. What is printed to standard output or error arrives there as
// plain lines. Standard input belongs to the server.
//
// # Life and death
//
// The process is started when its catalog is first used and serves only that one. It is ended when the server ends, even by SIGKILL. When it crashes, it is started
// again and the calls that ran are made once more; when it keeps crashing, it is started later and later, and they fail with fault.Unavailable. So keep nothing that
// cannot be lost, and do nothing that may not be done twice.
package sdk
