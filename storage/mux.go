package storage

// Factory makes a Store of one kind for one set of properties (a catalog's configuration, Iceberg's names) and vended credentials. It does no
// request: a wrong key shows itself at the first use.
type Factory func(properties map[string]string, credentials []Credential) (Store, error)

// Kind binds URI schemes to a Factory: {"file", ""} to local.New.
type Kind struct {
	Schemes []string
	New     Factory
}
