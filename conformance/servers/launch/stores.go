package launch

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// The keys of the stores that have some. Azurite's account and key are always those.
const (
	S3Key, S3Secret    = "skua", "skuasecret"
	AzureAccount       = "devstoreaccount1"
	AzureKey           = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	Bucket             = "warehouse" // that versitygw and fake-gcs begin with
	hadoopVersion      = "3.4.2"
	hadoopAPI          = "org.apache.hadoop:hadoop-client-api:" + hadoopVersion
	hadoopRuntime      = "org.apache.hadoop:hadoop-client-runtime:" + hadoopVersion
	smallHeap          = "-Xmx512m"
	opened             = "--add-opens=java.base/java.lang=ALL-UNNAMED"
	miniClusterVersion = "org.apache.hadoop:hadoop-client-minicluster:" + hadoopVersion
)

var versitygw = kind{
	name: "s3", about: "versitygw 1.8.0: S3 over a folder, which checks signatures", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		binary, err := s.golang(ctx, "github.com/versity/versitygw/cmd/versitygw@v1.8.0")
		if err != nil {
			return err
		}
		// Metadata in a folder of its own needs no extended attributes of the file system.
		for _, folder := range []string{"iam", "sidecar", "buckets/" + Bucket} {
			if err := os.MkdirAll(s.in(folder), 0o755); err != nil {
				return err
			}
		}
		s.environment = []string{"ROOT_ACCESS_KEY=" + S3Key, "ROOT_SECRET_KEY=" + S3Secret}
		s.command = []string{binary, "--quiet", "--port", s.at(), "--iam-dir", s.in("iam"), "posix", "--sidecar", s.in("sidecar"), s.in("buckets")}
		return nil
	},
	ready: open,
}

var fakeGCS = kind{
	name: "gcs", about: "fake-gcs-server 1.56.1: Google Cloud Storage in memory", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		binary, err := s.golang(ctx, "github.com/fsouza/fake-gcs-server@v1.56.1")
		if err != nil {
			return err
		}
		if err := os.MkdirAll(s.in("seed/"+Bucket), 0o755); err != nil {
			return err
		}
		s.command = []string{binary, "-scheme=http", "-backend=memory", "-log-level=warn", "-host=" + host, fmt.Sprintf("-port=%d", s.ports[0]), "-data=" + s.in("seed"),
			"-public-host=" + s.at(), "-external-url=http://" + s.at()}
		return nil
	},
	ready: answers(0, "/_internal/healthcheck"),
}

var azurite = kind{
	name: "adls", about: "Azurite 3.37.0: Azure's Blob storage", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		script, err := s.node(ctx, "azurite@3.37.0", "dist/src/blob/main.js")
		if err != nil {
			return err
		}
		s.command = []string{"node", script, "--blobHost", host, "--blobPort", fmt.Sprint(s.ports[0]), "--location", s.in("blobs"), "--silent", "--disableTelemetry",
			"--skipApiVersionCheck"}
		return nil
	},
	ready: open,
}

var miniHDFS = kind{
	name: "hdfs", about: "Hadoop 3.4.2's MiniDFSCluster: a name node and a data node", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		path, err := s.classpath(ctx, []jar{{name: miniClusterVersion}, {name: hadoopAPI}, {name: hadoopRuntime}, {name: "org.slf4j:slf4j-simple:1.7.36"}}, "MiniCluster.java")
		if err != nil {
			return err
		}
		runtime, err := java(ctx, 17)
		s.command = []string{runtime, smallHeap, opened, "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", path, "MiniCluster", s.in("dfs"), host, fmt.Sprint(s.ports[0])}
		return err
	},
	ready: func(_ context.Context, s *site) error {
		text, err := os.ReadFile(s.in("log"))
		if err == nil && !strings.Contains(string(text), "ready\n") {
			err = fmt.Errorf("it has not said that it is ready")
		}
		return err
	},
}
