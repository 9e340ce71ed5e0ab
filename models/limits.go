package models

// Limits bound the NewPlants that are accepted: from clients, in files, and from commands that
// send them to a server. [Decoder] enforces them.
type Limits struct {
	BodyBytes int64 // of a NewPlant in JSON (C2.15)
}

// TooLong reports whether a NewPlant in JSON has more than BodyBytes.
func (l Limits) TooLong(body []byte) bool { return int64(len(body)) > l.BodyBytes }

// TooLarge returns the Error for a body of more than limit bytes (C2.15).
func TooLarge(limit int64) *Error {
	return Errorf(CodeContentTooLarge, "the body is larger than the limit of %d bytes", limit)
}
