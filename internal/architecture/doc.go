// Package architecture contains only tests. They check what no linter checks, for the whole
// repository: links, generated documents and quoted messages.
package architecture
