package netguard

import (
	"net/netip"
)

// special are the networks that are not public, each with what it is.
var special = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this host"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "carrier-grade NAT"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("168.63.129.16/32"), "a cloud's metadata service"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local, where clouds have their metadata services"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "reserved"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("::1/128"), "loopback"},
	{netip.MustParsePrefix("fc00::/7"), "private"},
	{netip.MustParsePrefix("fe80::/10"), "link-local"},
	{netip.MustParsePrefix("ff00::/8"), "multicast"},
	{netip.MustParsePrefix("2001::/23"), "reserved, or a tunnel to an IPv4 address"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("2002::/16"), "a tunnel to an IPv4 address"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
}

var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96")
	global = netip.MustParsePrefix("2000::/3")
)

// notPublic says what an address is if it is not a public one, else nothing.
func notPublic(addr netip.Addr) string {
	if addr.Zone() != "" {
		return "bound to a network interface"
	}
	addr = addr.Unmap()
	if nat64.Contains(addr) {
		// Where a network translates, each IPv4 host has such an address.
		b := addr.As16()
		addr = netip.AddrFrom4([4]byte(b[12:]))
	}
	for _, s := range special {
		if s.prefix.Contains(addr) {
			return s.what
		}
	}
	if addr.Is6() && !global.Contains(addr) {
		return "not a global unicast address"
	}
	return ""
}
