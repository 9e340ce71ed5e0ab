package config

// removed returns the options of version 1 that are gone, each with what replaces it.
func removed() map[string]string {
	return map[string]string{
		"AUDIT_LOG": "the log has the subject, the plant and the outcome of each create",
	}
}
