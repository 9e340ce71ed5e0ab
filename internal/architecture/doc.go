// Package architecture holds nothing but tests: they check the shape of the
// whole repository, where no linter does.
package architecture
