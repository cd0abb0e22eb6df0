module example.com/skua-catalog-folder

go 1.26.0

require github.com/skua-data/skua v0.0.0

// Until there is a release to name above: where the server's source lies.
replace github.com/skua-data/skua => ../../..
