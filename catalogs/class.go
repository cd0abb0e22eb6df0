package catalogs

// Class is a catalog class of Spark's configuration, the value of spark.sql.catalog.<name>.
type Class struct {
	Name    string // the Java class name
	Session bool   // stands in front of Spark's own session catalog: its default namespace is called default and is always there
	Wraps   bool   // the RAPIDS wrapper: session settings override read options
}

// classes are the Java classes that Skua answers to.
var classes = []Class{
	{Name: "org.apache.iceberg.spark.SparkCatalog"},
	{Name: "org.apache.iceberg.spark.SparkSessionCatalog", Session: true},
	{Name: "com.nvidia.spark.rapids.iceberg.spark.RapidsSparkCatalog", Wraps: true},
	{Name: "com.nvidia.spark.rapids.iceberg.spark.RapidsSparkSessionCatalog", Session: true, Wraps: true},
}

// ClassByName finds a class by its Java name, which is case-sensitive.
func ClassByName(java string) (Class, bool) {
	for _, c := range classes {
		if c.Name == java {
			return c, true
		}
	}
	return Class{}, false
}

func classNames() []string {
	names := make([]string, len(classes))
	for i, c := range classes {
		names[i] = c.Name
	}
	return names
}

// implementation is a value that a property takes for a class of Iceberg's own.
type implementation struct{ java, name string }

// implementations are Iceberg's catalog classes with the type each is the long form of; static is a type of Skua's own. A catalog-impl that is not here names an outside plugin.
var implementations = []implementation{
	{"org.apache.iceberg.hive.HiveCatalog", "hive"},
	{"org.apache.iceberg.hadoop.HadoopCatalog", "hadoop"},
	{"org.apache.iceberg.rest.RESTCatalog", "rest"},
	{"org.apache.iceberg.aws.glue.GlueCatalog", "glue"},
	{"org.apache.iceberg.nessie.NessieCatalog", "nessie"},
	{"org.apache.iceberg.jdbc.JdbcCatalog", "jdbc"},
	{"org.apache.iceberg.gcp.bigquery.BigQueryMetastoreCatalog", "bigquery"},
	{"", "static"},
}

// fileIOs are the io-impl classes that a configuration may name. The store is chosen by each location's scheme whichever is named, as
// ResolvingFileIO does.
var fileIOs = []string{
	"org.apache.iceberg.hadoop.HadoopFileIO",
	"org.apache.iceberg.io.ResolvingFileIO",
	"org.apache.iceberg.aws.s3.S3FileIO",
	"org.apache.iceberg.gcp.gcs.GCSFileIO",
	"org.apache.iceberg.azure.adlsv2.ADLSFileIO",
}
