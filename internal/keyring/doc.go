// Package keyring holds keys by their ids: the newest enciphers, all decipher, so that
// a key is replaced while what it has enciphered can still be read. The cipher is
// AES-256-GCM with a random nonce of 96 bits, which stands before what it enciphers;
// a key is good for some 2^32 values (NIST SP 800-38D section 8.3).
//
// It needs the standard library alone: a backend that reads what is encrypted pulls in
// no more.
package keyring
