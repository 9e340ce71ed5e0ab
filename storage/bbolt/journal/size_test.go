package journal_test

// testSize is the size of the journals of these tests in bytes.
const testSize = 1 << 20
