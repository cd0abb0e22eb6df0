package session

import (
	"testing"
	"time"
)

func TestSizesAndDurations(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "7": 7, "64m": 64 << 20, "2G": 2 << 30, " 1kb ": 1 << 10, "8191p": 8191 << 50, "x": -1, "": -1,
		"-1": -1, "1.5g": -1, "9223372036854775807k": -1, "1 m": -1, "m": -1, "1mm": -1} {
		got, err := ParseBytes(text)
		if (err != nil) != (want < 0) || (err == nil && got != want) {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]time.Duration{"0": 0, "30": 30 * time.Second, "250ms": 250 * time.Millisecond, "5m": 5 * time.Minute, "2H": 2 * time.Hour,
		"1d": 24 * time.Hour, "": -1, "abc": -1, "-1s": -1, "99999999999d": -1, "1x": -1} {
		got, err := ParseDuration(text)
		if (err != nil) != (want < 0) || (err == nil && got != want) {
			t.Errorf("ParseDuration(%q) = %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	for key, want := range map[string]bool{"my.password": true, "spark.sql.catalog.c.s3.secret-access-key": true, "spark.sql.catalog.c.token": true,
		"spark.sql.catalog.c.credential": true, "spark.hadoop.fs.azure.account.key.x": true, "spark.sql.catalog.c.header.Authorization": true,
		"spark.sql.catalog.c.lookback-sasha": false, "fs.azure.sas.x": true, "spark.sql.shuffle.partitions": false, "skua.auth.key-file": false,
		"spark.rapids.iceberg.global-setting.read-split-target-size": false} {
		if IsSecret(key) != want {
			t.Errorf("IsSecret(%q) = %t", key, !want)
		}
	}
	for value, want := range map[string]string{
		"jdbc:mysql://h/db?user=u&password=p&ssl=true": "jdbc:mysql://h/db?user=u&password=" + Redacted + "&ssl=true",
		"AccountName=a;AccountKey=b;EndpointSuffix=c":  "AccountName=a;AccountKey=" + Redacted + ";EndpointSuffix=c",
		"https://h/x?sv=1&sig=abc":                     "https://h/x?sv=1&sig=" + Redacted,
		"jdbc:sqlite:/a/token=dir/x":                   "jdbc:sqlite:/a/token=dir/x",
		"s3://bucket/warehouse":                        "s3://bucket/warehouse",
	} {
		if got := Redact("uri", value); got != want {
			t.Errorf("Redact(%q) = %q", value, got)
		}
	}
	if got := Redact("uri", "jdbc:postgresql://u:p@host/db"); got != "jdbc:postgresql://"+Redacted+"@host/db" {
		t.Errorf("got %q", got)
	}
}
