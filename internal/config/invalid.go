package config

import "fmt"

// An InvalidError is returned for a well-formed value that can't be used, such as a path
// that the server itself uses. The program exits with the code for misuse.
type InvalidError struct{ message string }

// Error implements error.
func (e *InvalidError) Error() string { return e.message }

// Invalid returns an [InvalidError] with a message as of [fmt.Sprintf].
func Invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}
