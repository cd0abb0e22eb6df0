package plugins

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skua-data/skua/fault"
)

func TestSecretsLeaveTexts(t *testing.T) {
	for _, c := range []struct {
		name       string
		properties map[string]string
		give, want string
	}{
		{"value of a secret key", map[string]string{"s3.secret-access-key": "wJalrX"}, "signed with wJalrX!", "signed with [redacted]!"},
		{"any case", map[string]string{"JDBC.PassWord": "hunter2"}, "login hunter2", "login [redacted]"},
		{"access key", map[string]string{"s3.access-key-id": "AKIA1234"}, "key AKIA1234 unknown", "key [redacted] unknown"},
		{"sas token", map[string]string{"adls.sas-token.acct.dfs.core.windows.net": "sv=1&sig=Q%2Fz"}, "GET https://acct/x?sv=1&sig=Q%2Fz", "GET https://acct/x?[redacted]"},
		{"shared key", map[string]string{"adls.auth.shared-key.account.key": "c2hhcmVk"}, "c2hhcmVk", "[redacted]"},
		{"connection string, and its key alone", map[string]string{"adls.connection-string": "AccountName=acct;AccountKey=kkkkkk=="}, "key kkkkkk== of acct", "key [redacted] of acct"},
		{"OAuth2 credential, and its secret alone", map[string]string{"credential": "client:s3cr3t"}, "client sent s3cr3t", "client sent [redacted]"},
		{"bearer token", map[string]string{"token": "eyJhbGciOi"}, "Authorization: Bearer eyJhbGciOi", "Authorization: Bearer [redacted]"},
		{"a header nobody configured", nil, "request had authorization: Bearer abcdef.ghi-jkl", "request had authorization: Bearer [redacted]"},
		{"header property", map[string]string{"header.Authorization": "Basic dXNlcg"}, "sent Basic dXNlcg", "sent [redacted]"},
		{"sasl jaas", map[string]string{"sasl.jaas.config": "x required;"}, "x required;", "[redacted]"},
		{"escaped in a URL", map[string]string{"password": "p@ss/w rd"}, "https://h/?p=p%40ss%2Fw+rd", "https://h/?p=[redacted]"},
		{"escaped by quoting", map[string]string{"password": "pa\"ss\\x"}, `value "pa\"ss\\x"`, `value "[redacted]"`},
		{"inside another secret", map[string]string{"a.token": "abcdef", "b.token": "abcdefghi"}, "abcdefghi abcdef", "[redacted] [redacted]"},
		{"user and password of a URL", nil, "dial postgres://bob:pw@host:5432/db", "dial postgres://[redacted]@host:5432/db"},
		{"password with an at sign", nil, "mongodb+srv://bob:p@w@host/x", "mongodb+srv://[redacted]@host/x"},
		{"password of a configured URL, alone", map[string]string{"uri": "jdbc:postgresql://bob:hunter2@h/db"}, "user bob, hunter2 refused", "user bob, [redacted] refused"},
		{"password parameter of a configured URL, alone", map[string]string{"uri": "jdbc:mysql://h/db?user=u&password=hunter2"}, "hunter2 is wrong", "[redacted] is wrong"},
		{"password parameter", nil, "jdbc:mysql://h/db?user=u&password=pw&x=1", "jdbc:mysql://h/db?user=u&password=[redacted]&x=1"},
		{"semicolon parameter", nil, "jdbc:sqlserver://h;user=u;password=pw;x=1", "jdbc:sqlserver://h;user=u;password=[redacted];x=1"},
		{"presigned URL", nil, "https://b/k?X-Amz-Signature=abc&X-Amz-Date=1", "https://b/k?X-Amz-Signature=[redacted]&X-Amz-Date=1"},
		{"thin driver", nil, "jdbc:oracle:thin:scott/tiger@//h/s", "jdbc:oracle:thin:[redacted]@//h/s"},
		{"short secret as a word", map[string]string{"password": "a"}, "a catalog a, a", "[redacted] catalog [redacted], [redacted]"},
		{"container of a store is no user", nil, "abfss://container@acct.dfs.core.windows.net/p", "abfss://container@acct.dfs.core.windows.net/p"},
		{"plain keys stay", map[string]string{"token-refresh-enabled": "true", "oauth2-server-uri": "http://auth/x", "gcs.oauth2.token-expires-at": "17000",
			"warehouse": "/data/w", "jdbc.user": "bob"}, "true http://auth/x 17000 /data/w bob", "true http://auth/x 17000 /data/w bob"},
		{"words that only sound secret", map[string]string{"disaster": "x-files"}, "x-files", "x-files"},
		{"empty value", map[string]string{"password": ""}, "abc", "abc"},
		{"blank value", map[string]string{"password": " "}, "a b", "a b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := NewRedactor(c.properties).String(c.give); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	var none *Redactor
	if none.String("x://a:b@c") != "x://[redacted]@c" {
		t.Error("the nil Redactor must know URLs")
	}
}

func TestRedactedErrorsKeepKindAndLoseCauses(t *testing.T) {
	r := NewRedactor(map[string]string{"password": "hunter22"})
	inner := fault.New(fault.Denied, "login hunter22").With("X", "12345").In("obj hunter22").Change("jdbc.password")
	for _, err := range []error{inner, fmt.Errorf("hunter22: %w", inner), fault.Wrap(inner, "hunter22")} {
		got := r.Error(err)
		if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, "hunter22") || !fault.Is(got, fault.Denied) {
			t.Errorf("got %s", text)
		}
	}
	if r.Error(nil) != nil {
		t.Error("nil must stay nil")
	}
	if got := r.Error(fmt.Errorf("x: %w", context.Canceled)); fault.KindOf(got) != fault.Canceled {
		t.Errorf("got %v", got)
	}
}

func FuzzRedactor(f *testing.F) {
	f.Add("hunter22", "a hunter22 b")
	f.Add("p@s/s", "x://u:p@s/s@h")
	f.Fuzz(func(t *testing.T, secret, around string) {
		if len(secret) < shortSecret || strings.TrimSpace(secret) != secret || strings.Contains(redacted, secret) || strings.ContainsAny(secret, "[]") || strings.Contains(secret, "redacted") {
			t.Skip()
		}
		got := NewRedactor(map[string]string{"password": secret}).String(around + secret + around)
		if strings.Contains(got, secret) {
			t.Errorf("%q is in %q", secret, got)
		}
	})
}
