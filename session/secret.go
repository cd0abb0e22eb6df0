package session

import (
	"regexp"
	"strings"
)

// Redacted stands in for a secret value wherever one would be shown, in Spark's spelling.
const Redacted = "*********(redacted)"

// secretKey is Spark's default redaction pattern, and what Iceberg's catalogs and stores add to it.
var secretKey = regexp.MustCompile(`(?i)secret|password|token|access[.-]?key|credential|sas|connection-string|shared-key|private-key|jsonkey|passphrase`)

// userInfo is user:password@ in a URL.
var userInfo = regexp.MustCompile(`://[^/@\s:]*:[^/@\s]+@`)

// IsSecret reports whether a key's value must not be shown. An access key's id counts as one, as it does for Spark.
func IsSecret(key string) bool {
	return secretKey.MatchString(key) && !strings.HasSuffix(key, "-file") && !strings.HasSuffix(key, ".path")
}

// Redact gives value as it may be shown for key: whole, or without what is secret in it.
func Redact(key, value string) string {
	if IsSecret(key) && value != "" {
		return Redacted
	}
	return userInfo.ReplaceAllString(value, "://"+Redacted+"@")
}
