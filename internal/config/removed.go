package config

// removed returns the options of version 1 that are gone, each with what replaces it.
func removed() map[string]string {
	return map[string]string{
		"ACME_CACHE":  "certificates are kept in the directory acme next to the database, or else in data/acme",
		"ACME_EMAIL":  "the metric plantstore_certificate_expiry_timestamp_seconds shows a renewal that fails",
		"SOCKET_MODE": "the socket has the mode 0660; set the permissions of its directory instead",
		"AUDIT_LOG":   "the log has the subject, the plant and the outcome of each create",
	}
}
