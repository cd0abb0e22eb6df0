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
		"spark.sql.catalog.c.credential": true, "fs.azure.sas.x": true, "spark.sql.shuffle.partitions": false, "skua.auth.key-file": false,
		"spark.rapids.iceberg.global-setting.read-split-target-size": false} {
		if IsSecret(key) != want {
			t.Errorf("IsSecret(%q) = %t", key, !want)
		}
	}
	if got := Redact("uri", "jdbc:postgresql://u:p@host/db"); got != "jdbc:postgresql://"+Redacted+"@host/db" {
		t.Errorf("got %q", got)
	}
}
