package launch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
)

// How the databases are entered: the user, the password, and MariaDB's database; PostgreSQL's is postgres.
const (
	User     = "skua"
	Password = "skuasecret"
	Database = "iceberg"
)

// as is the beginning of a command that runs as a package's own user where this process is root, for the databases refuse to be root. The folder becomes
// that user's.
func (s *site) as(name string) ([]string, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	who, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(who.Uid)
	if err != nil {
		return nil, err
	}
	return []string{"setpriv", "--reuid=" + name, "--regid=" + name, "--init-groups"}, os.Chown(s.folder, uid, -1)
}

var postgres = kind{
	name: "postgres", about: "PostgreSQL, Debian's package", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
		if len(found) == 0 {
			return fmt.Errorf("%w: initdb (the package postgresql)", ErrMissing)
		}
		slices.Sort(found)
		programs := filepath.Dir(found[len(found)-1])
		who, err := s.as("postgres")
		if err != nil {
			return err
		}
		password := s.in("password")
		if err := os.WriteFile(password, []byte(Password), 0o644); err != nil {
			return err
		}
		initdb := append(who, filepath.Join(programs, "initdb"), "-D", s.in("data"), "-U", User, "--auth=scram-sha-256", "--pwfile="+password, "--encoding=UTF8", "--no-sync")
		if err := shell(ctx, s.folder, nil, initdb[0], initdb[1:]...); err != nil {
			return err
		}
		s.command = append(slices.Clip(who), filepath.Join(programs, "postgres"), "-D", s.in("data"), "-h", host, "-p", fmt.Sprint(s.ports[0]), "-k", "", "-F")
		return nil
	},
	ready: open,
}

var mariadb = kind{
	name: "mariadb", about: "MariaDB, Debian's package mariadb-server", ports: 1,
	prepare: func(ctx context.Context, s *site) error {
		var paths []string
		for _, name := range []string{"mariadb-install-db", "mariadbd"} {
			path, err := program(name, "the package mariadb-server")
			if path == "" {
				path, err = exec.LookPath("/usr/sbin/" + name) // which is on root's path alone
			}
			if err != nil {
				return fmt.Errorf("%w: %s (the package mariadb-server)", ErrMissing, name)
			}
			paths = append(paths, path)
		}
		who, err := s.as("mysql")
		if err != nil {
			return err
		}
		first := fmt.Sprintf("CREATE DATABASE %s;\nCREATE USER '%s'@'%%' IDENTIFIED BY '%s';\nGRANT ALL ON %[1]s.* TO '%[2]s'@'%%';\n", Database, User, Password)
		if err := os.WriteFile(s.in("first.sql"), []byte(first), 0o644); err != nil {
			return err
		}
		make := append(who, paths[0], "--no-defaults", "--datadir="+s.in("data"), "--tmpdir="+s.in("data"), "--auth-root-authentication-method=normal", "--skip-test-db")
		if err := shell(ctx, s.folder, nil, make[0], make[1:]...); err != nil {
			return err
		}
		s.command = append(slices.Clip(who), paths[1], "--no-defaults", "--datadir="+s.in("data"), "--tmpdir="+s.in("data"), "--bind-address="+host, fmt.Sprintf("--port=%d", s.ports[0]),
			"--socket="+s.in("socket"), "--pid-file="+s.in("pid"), "--init-file="+s.in("first.sql"), "--innodb-buffer-pool-size=32M", "--skip-log-bin")
		return nil
	},
	ready: open,
}
