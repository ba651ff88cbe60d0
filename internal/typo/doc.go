// Package typo says how far two names are apart, to find the one that was meant.
//
// [Distance] counts the edits between two names, such as the id of a tool that a model
// wrote and one that there is. Who tells of a name that is not known offers those that
// are near, and lets none pass for another.
package typo
