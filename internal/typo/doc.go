// Package typo says how far two names are apart, to find the one that was meant.
package typo
