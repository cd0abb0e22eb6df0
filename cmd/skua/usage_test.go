package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

// call runs the program in this process.
func call(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var buffer bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&buffer)
	root.SetErr(&buffer)
	root.SetIn(strings.NewReader(""))
	err = execute(context.Background(), root)
	return buffer.String(), err
}

func TestMisuseTellsWhatToDo(t *testing.T) {
	for args, want := range map[string][]string{
		"config chek":                       {`unknown command "chek" for "skua config"; did you mean check?`, "see skua config --help"},
		"srve":                              {`unknown command "srve" for "skua"`, "serve", "see skua --help"},
		"help srve":                         {`unknown command "srve" for "skua"`, "see skua --help"},
		"help config chek":                  {`unknown command "chek" for "skua config"`},
		"config check --propertiesfile=x":   {"unknown flag: --propertiesfile", "see skua config check --help"},
		"serve now":                         {`unexpected argument "now"`, "see skua serve --help"},
		"user":                              {"NAME is missing", "see skua user --help"},
		"demo a b":                          {`unexpected argument "b"`, "see skua demo --help"},
		"sql SELECT-1":                      {`skua sql -e "SELECT-1"`, "see skua sql --help"},
		"sql --user ana -e SELECT-1":        {"--user needs --password-file"},
		"sql --password-file x -e SELECT-1": {"--password-file needs --user"},
		"sql --user a --token-file b":       {"exclude each other"},
		"sql -e SELECT-1 -f x":              {"exclude each other"},
		"sql -e ;":                          {"no statement"},
		"sql -f -":                          {"no statement"},
		"sql -e SELECT-1 --format xml":      {"table, csv, json, arrow"},
		"sql -e SELECT-1 --uri http://a":    {"unknown scheme", "grpc+tls"},
		"sql -e x --ca-file y":              {"grpc+tls://127.0.0.1:31337"},
		"sql -e x --client-certificate y --uri grpc+tls://127.0.0.1": {"--client-key"},
	} {
		_, err := call(t, strings.Fields(args)...)
		if err == nil {
			t.Errorf("%s: no error", args)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error lacks %q: %v", args, part, err)
			}
		}
	}
}

func TestOnlyMisuseLeadsToTheHelp(t *testing.T) {
	_, err := call(t, "config", "check", "--properties-file", "no-such-file.conf")
	if err == nil || strings.Contains(err.Error(), "--help") {
		t.Errorf("a missing file: %v", err)
	}
	out, err := call(t, "config")
	if err != nil || !strings.Contains(out, "check") {
		t.Errorf("config alone: %v\n%s", err, out)
	}
	if out, err := call(t, "help", "user"); err != nil || !strings.Contains(out, "name:hash") {
		t.Errorf("help user: %v\n%s", err, out)
	}
	if out, err := call(t, "sql", "--help"); err != nil || !strings.Contains(out, "--client-certificate") {
		t.Errorf("help: %v\n%s", err, out)
	}
}
