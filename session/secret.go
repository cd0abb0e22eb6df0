package session

import (
	"regexp"
	"strings"
)

// Redacted stands in for a secret value wherever one would be shown, in Spark's spelling.
const Redacted = "*********(redacted)"

// secretKey is Spark's default redaction pattern, and what Iceberg's catalogs and stores add to it.
var secretKey = regexp.MustCompile(`(?i)secret|password|token|access[.-]?key|credential|sas\b|connection-string|shared-key|account[.-]?key|private-key|api[.-]?key|jsonkey|passphrase|authorization|cookie`)

// userInfo is user:password@ in a URL, secretParameter a secret in its query or in a connection string.
var (
	userInfo        = regexp.MustCompile(`://[^/@\s:]*:[^/@\s]+@`)
	secretParameter = regexp.MustCompile(`(?i)((?:^|[?&;,\s])(?:[\w.-]*(?:password|passwd|pwd|secret|token|credential|accountkey|access[_-]?key)|sig|signature)=)[^&;,\s]+`)
)

// IsSecret reports whether a key's value must not be shown. An access key's id counts as one, as it does for Spark.
func IsSecret(key string) bool {
	return secretKey.MatchString(key) && !strings.HasSuffix(key, "-file") && !strings.HasSuffix(key, ".path")
}

// Redact gives value as it may be shown for key: whole, or without what is secret in it.
func Redact(key, value string) string {
	if IsSecret(key) && value != "" {
		return Redacted
	}
	value = userInfo.ReplaceAllString(value, "://"+Redacted+"@")
	return secretParameter.ReplaceAllString(value, "${1}"+Redacted)
}
