function fields = decode(headers, varargin)
%DECODE  What response headers say, one header (32 B) a column.
%   fields = wiregauge.pure.decode(headers) takes a uint8 matrix whose first 32 rows are response headers of the wiregauge
%   protocol and returns a struct of 1-by-K rows: valid (logical: magic, version, kind, status, check and length are
%   right), kind, sequence, in_payload (bytes), status, flags, rx_ticks, tx_ticks (uint64).
%
%   Example:
%     fields = wiregauge.pure.decode(zeros(32, 1, 'uint8'));
%     fields.valid                                        % false

wiregauge.internal.given(nargin, 1, 1, 'fields = wiregauge.pure.decode(headers)');
wiregauge.internal.headers(headers, 32);
headers = headers(1:32, :);
unchecked = headers;
unchecked(3:4, :) = 0;
bytes = double(headers);
version = floor(bytes(2, :) / 16);
fields.kind = mod(bytes(2, :), 16);
fields.sequence = littleEndian(bytes(5:8, :));
fields.in_payload = littleEndian(bytes(9:12, :));
fields.status = littleEndian(bytes(13:14, :));
fields.flags = littleEndian(bytes(15:16, :));
fields.rx_ticks = wide(bytes(17:24, :));
fields.tx_ticks = wide(bytes(25:32, :));
crc = littleEndian(bytes(3:4, :));
fields.valid = bytes(1, :) == 122 & version == 1 & fields.kind <= 4 & fields.status <= 4 & ...
    crc == double(wiregauge.pure.check(unchecked)) & fields.in_payload + 32 <= 2^24 & ...
    (fields.status == 0 | fields.in_payload == 0);
end

function values = littleEndian(bytes)
values = (256.^(0:size(bytes, 1) - 1)) * bytes;
end

function values = wide(bytes)
% Doubles hold 53 bits; a clock may use all 64.
values = bitor(uint64(littleEndian(bytes(1:4, :))), bitshift(uint64(littleEndian(bytes(5:8, :))), 32));
end
