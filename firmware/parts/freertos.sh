# The FreeRTOS kernel V11.2.0 (MIT), as the crate freertos-next carries it: the one package registry that has this
# kernel. Nothing of the crate's Rust is used.
file=freertos-next-0.12.0.crate
curl -sSfL --retry 3 -O "https://static.crates.io/crates/freertos-next/$file"
echo "b7824fb42660c16e1b3b573eef99c2fe5c5cba6294a631c309084635f6bfcbb0  $file" | sha256sum --quiet -c
tar xzf "$file" --strip-components=2 freertos-next-0.12.0/FreeRTOS-Kernel
rm "$file"
