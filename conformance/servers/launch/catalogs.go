package launch

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
)

var restFixture = kind{
	name: "rest", about: "Iceberg 1.11.0's REST test fixture over SQLite; settings: its catalog properties, and shadow (see ShadowStore.java)", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		const version = "1.11.0"
		path, err := s.classpath(ctx, []jar{{name: "org.apache.iceberg:iceberg-open-api:" + version + ":test-fixtures"}, {name: "org.apache.iceberg:iceberg-core:" + version},
			{name: "org.apache.iceberg:iceberg-core:" + version + ":tests"}, {name: "org.apache.iceberg:iceberg-aws:" + version}, {name: "org.apache.iceberg:iceberg-aws-bundle:" + version},
			{name: hadoopAPI}, {name: hadoopRuntime}, {name: "org.eclipse.jetty.ee10:jetty-ee10-servlet:12.1.14"}, {name: "org.xerial:sqlite-jdbc:3.50.3.0"},
			{name: "org.slf4j:slf4j-simple:2.0.17"}, {name: "org.assertj:assertj-core:3.27.6"}}, "RestFixture.java", "ShadowStore.java")
		if err != nil {
			return err
		}
		properties := Settings{"catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog", "uri": "jdbc:sqlite:" + s.in("catalog.db"), "jdbc.schema-version": "V1",
			"warehouse": "file://" + s.in("warehouse")}
		for k, v := range s.settings {
			properties[k] = v
		}
		shadow := properties["shadow"]
		delete(properties, "shadow")
		if err := s.shadowSite("gs", "abfss", "hdfs"); err != nil {
			return err
		}
		var text strings.Builder
		for k, v := range properties {
			fmt.Fprintf(&text, "%s=%s\n", k, v)
		}
		if err := os.WriteFile(s.in("catalog.properties"), []byte(text.String()), 0o600); err != nil {
			return err
		}
		runtime, err := java(ctx, 17)
		s.command = []string{runtime, smallHeap, "-Dskua.shadow=" + shadow, "-cp", s.in("conf") + ":" + path, "org.apache.iceberg.rest.RestFixture", host, fmt.Sprint(s.ports[0]), s.in("catalog.properties")}
		return err
	},
	ready: answers(0, "/v1/config"),
}

// hive is a metastore over Derby, in the version that its name ends in. Locations in object stores are folders below its own (see java/ShadowStore.java).
func hive(name string) kind {
	shaded := []string{"org.apache.hadoop", "org.apache.hbase", "io.grpc", "jdk.tools"} // what hadoop-client has, nobody needs, or only a JDK 8 has
	jars := []jar{{name: hadoopAPI}, {name: hadoopRuntime}, {"org.apache.hadoop:hadoop-hdfs:" + hadoopVersion, []string{"*"}}, {name: "com.google.code.gson:gson:2.10.1"}, {name: "commons-cli:commons-cli:1.5.0"}}
	version, main, files := "4.0.1", []string{"org.apache.hadoop.hive.metastore.HiveMetaStore"}, []string{"ShadowStore.java"}
	if name == "hive3" {
		version, main, files = "3.1.3", []string{"LoopbackMetastore"}, append(files, "LoopbackMetastore.java")
		jars = append(jars, jar{"org.apache.hive:hive-standalone-metastore:" + version, shaded}, jar{name: "commons-collections:commons-collections:3.2.2"})
	} else {
		jars = append(jars, jar{"org.apache.hive:hive-standalone-metastore-server:" + version, shaded})
	}
	return kind{
		name: name, about: "Hive metastore " + version + " over Derby", ports: 1,
		prepare: func(ctx context.Context, s *site) error {
			path, err := s.classpath(ctx, jars, files...)
			if err != nil {
				return err
			}
			if err := s.hiveSite(); err != nil {
				return err
			}
			runtime, err := java(ctx, 17)
			s.command = []string{runtime, smallHeap, opened}
			for _, pkg := range []string{"java.net", "java.util", "java.util.concurrent"} {
				s.command = append(s.command, "--add-opens=java.base/"+pkg+"=ALL-UNNAMED")
			}
			s.command = append(s.command, "-Dskua.shadow="+s.in("shadow"), "-Dderby.system.home="+s.folder, "-Dlog4j2.level=WARN", "-cp", s.in("conf")+":"+path)
			s.command = append(s.command, main...)
			if name == "hive3" {
				s.command = append(s.command, host)
			} else {
				s.command = append(s.command, "-p")
			}
			s.command = append(s.command, fmt.Sprint(s.ports[0]))
			return err
		},
		ready: thriftAnswers,
	}
}

// hiveSite writes a metastore's configuration.
func (s *site) hiveSite() error {
	settings := map[string]string{
		"metastore.thrift.bind.host": host, "metastore.thrift.port": fmt.Sprint(s.ports[0]), "metastore.thrift.uris": "thrift://" + s.at(),
		// Version 4 refuses Iceberg's external tables under the root of the managed ones.
		"metastore.warehouse.dir": "file://" + s.in("managed"), "metastore.warehouse.external.dir": "file://" + s.in("warehouse"),
		"javax.jdo.option.ConnectionURL":        "jdbc:derby:;databaseName=" + s.in("derby") + ";create=true",
		"javax.jdo.option.ConnectionDriverName": "org.apache.derby.jdbc.EmbeddedDriver", "datanucleus.schema.autoCreateAll": "true", "metastore.schema.verification": "false",
		"metastore.expression.proxy": "org.apache.hadoop.hive.metastore.DefaultPartitionExpressionProxy", "metastore.event.db.notification.api.auth": "false",
		// The tasks of its own that it would run beside are none of what is tested, and need classes that are not here.
		"metastore.task.threads.always": "org.apache.hadoop.hive.metastore.events.EventCleanerTask", "metastore.task.threads.remote": "org.apache.hadoop.hive.metastore.events.EventCleanerTask",
		"metastore.async.log.enabled": "false", "metastore.event.listeners": "",
	}
	if err := s.shadowSite("s3", "s3a", "gs", "abfs", "abfss", "hdfs"); err != nil {
		return err
	}
	return s.hadoopFile("metastore-site.xml", settings)
}

// shadowSite has folders stand for the stores of some schemes.
func (s *site) shadowSite(schemes ...string) error {
	shadows := map[string]string{}
	for _, scheme := range schemes {
		shadows["fs."+scheme+".impl"] = "ShadowStore"
	}
	return s.hadoopFile("core-site.xml", shadows)
}

// hadoopFile writes a file of Hadoop's configuration into the folder conf.
func (s *site) hadoopFile(name string, values map[string]string) error {
	if err := os.MkdirAll(s.in("conf"), 0o755); err != nil {
		return err
	}
	var text strings.Builder
	for k, v := range values {
		fmt.Fprintf(&text, "<property><name>%s</name><value>%s</value></property>\n", k, v)
	}
	return os.WriteFile(s.in("conf/"+name), []byte("<configuration>\n"+text.String()+"</configuration>\n"), 0o644)
}

// thriftAnswers asks for getStatus: the port is open some seconds before calls are answered.
func thriftAnswers(ctx context.Context, s *site) error {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.at())
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	// A strict binary call of number 1 without arguments.
	if _, err := c.Write([]byte("\x80\x01\x00\x01\x00\x00\x00\x09getStatus\x00\x00\x00\x01\x00")); err != nil {
		return err
	}
	reply := make([]byte, 4)
	if _, err := io.ReadFull(c, reply); err != nil {
		return err
	}
	if string(reply) != "\x80\x01\x00\x02" {
		return fmt.Errorf("it answers %x", reply)
	}
	return nil
}

var nessie = kind{
	name: "nessie", about: "Nessie 0.99.0 in memory; settings: s3 (the endpoint that it needs), sts (of which it vends keys), issuer (whose tokens it demands)", ports: 2,
	prepare: func(ctx context.Context, s *site) error {
		path, err := s.classpath(ctx, []jar{{"org.projectnessie.nessie:nessie-quarkus:0.99.0:runner", []string{"*"}}})
		if err != nil {
			return err
		}
		runtime, err := java(ctx, 21)
		if err != nil {
			return err
		}
		const store = "nessie.catalog.service.s3.default-options."
		settings := Settings{
			"quarkus.http.host": host, "quarkus.http.port": fmt.Sprint(s.ports[0]), "quarkus.management.host": host, "quarkus.management.port": fmt.Sprint(s.ports[1]),
			"quarkus.otel.sdk.disabled": "true", "nessie.version.store.type": "IN_MEMORY", "nessie.catalog.default-warehouse": "lake",
			"nessie.catalog.warehouses.lake.location": "s3://" + Bucket + "/nessie", store + "endpoint": s.settings["s3"], store + "path-style-access": "true", store + "region": "us-east-1",
			store + "access-key": "urn:nessie-secret:quarkus:keys", "keys.name": S3Key, "keys.secret": S3Secret,
		}
		if at := s.settings["sts"]; at != "" {
			settings[store+"client-iam.enabled"], settings[store+"client-iam.assume-role"], settings[store+"sts-endpoint"] = "true", "arn:aws:iam::123456789012:role/skua", at
		}
		if at := s.settings["issuer"]; at != "" {
			settings["nessie.server.authentication.enabled"], settings["quarkus.oidc.tenant-enabled"] = "true", "true"
			settings["quarkus.oidc.auth-server-url"], settings["quarkus.oidc.client-id"] = at, "nessie"
		}
		s.command = []string{runtime, smallHeap}
		for k, v := range settings {
			s.command = append(s.command, "-D"+k+"="+v)
		}
		s.command = append(s.command, "-jar", strings.TrimSuffix(path, "*")+"nessie-quarkus-0.99.0-runner.jar")
		return nil
	},
	ready: answers(1, "/q/health/ready"),
}

var moto = kind{
	name: "moto", about: "moto 5.2.5: AWS Glue, S3 and STS in memory; any key passes", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		binary, err := s.python(ctx, "moto[server]==5.2.5", "moto_server")
		s.command = []string{binary, "-H", host, "-p", fmt.Sprint(s.ports[0])}
		return err
	},
	ready: answers(0, "/moto-api/"),
}

var issuer = kind{
	name: "issuer", about: "oauth2-mock-server 9.3.0: an OpenID Connect issuer of signed tokens; any client passes", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		script, err := s.node(ctx, "oauth2-mock-server@9.3.0", "dist/oauth2-mock-server.mjs")
		s.command = []string{"node", script, "-a", host, "-p", fmt.Sprint(s.ports[0])}
		// Its tokens name it so, and clients compare.
		s.client["issuer"] = (&url.URL{Scheme: "http", Host: fmt.Sprintf("localhost:%d", s.ports[0])}).String()
		return err
	},
	ready: answers(0, "/.well-known/openid-configuration"),
}
