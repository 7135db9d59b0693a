function crc = check(headers, varargin)
%CHECK  CRC-16/CCITT-FALSE of headers, one header a column.
%   crc = wiregauge.pure.check(headers) takes an N-by-K uint8 matrix and returns a 1-by-K uint16 row: the check of each
%   column. The check field itself must be zero. uint8('123456789')' gives 0x29B1 = 10673.
%
%   All columns are computed at once, because an M-file pays for each statement, not for each byte.
%
%   Example:
%     crc = wiregauge.pure.check(uint8('123456789')')

wiregauge.internal.given(nargin, 1, 1, 'crc = wiregauge.pure.check(headers)');
wiregauge.internal.headers(headers, 0);
crc = repmat(uint16(65535), 1, size(headers, 2));
for row = 1:size(headers, 1)
    x = bitxor(bitshift(crc, -8), uint16(headers(row, :)));
    x = bitxor(x, bitshift(x, -4));
    crc = bitxor(bitxor(bitshift(crc, 8), bitshift(x, 12)), bitxor(bitshift(x, 5), x));
end
end
