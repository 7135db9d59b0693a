# lwIP 2.2.1 (BSD), the TCP/IP stack of both Ethernet boards, and contrib/: its example applications and its port to
# FreeRTOS. Upstream's release without the files that Debian's rules forbid (none of them is used here); unpatched,
# because Debian's patches are for the POSIX library and SNMP.
file=lwip_2.2.1+dfsg1.orig.tar.xz
curl -sSfL --retry 3 -O "https://deb.debian.org/debian/pool/main/l/lwip/$file"
echo "83729c274c499d3348e9fbbe043a3113f3fa8953e7efddc7c21c7fcbb1f2b7b1  $file" | sha256sum --quiet -c
tar xf "$file" --strip-components=1
rm "$file"
