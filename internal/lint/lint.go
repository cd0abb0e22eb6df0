// Package lint holds the house rules as tests: who may import whom, what must be documented, what may not be named or called, and that
// ARCHITECTURE.md and NOTICE tell the truth. It has no code outside its tests, and only those parse the module's source.
package lint
