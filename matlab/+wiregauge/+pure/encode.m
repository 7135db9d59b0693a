function frames = encode(sequence, outBytes, inBytes, kind, varargin)
%ENCODE  Request frames of the wiregauge protocol, one a column.
%   frames = wiregauge.pure.encode(sequence, outBytes, inBytes) returns an outBytes-by-K uint8 matrix: for each of the K
%   numbers in sequence a whole frame, header (16 B) and pattern, that asks for a response of inBytes.
%   wiregauge.pure.encode(sequence, outBytes, inBytes, kind) makes another kind than 1 (EXCHANGE), with an empty payload
%   of zeros: 0 is HELLO.
%
%   docs/protocol.md has the layout, docs/vectors/v1.json what it must come to.
%
%   Example:
%     frames = wiregauge.pure.encode(0:9, 16, 48);         % a column for each request

wiregauge.internal.given(nargin, 3, 4, 'frames = wiregauge.pure.encode(0:9, 16, 48)');
if nargin < 4
    kind = 1;
end
wiregauge.internal.sequence(sequence);
wiregauge.internal.whole('outBytes', outBytes, 16, 2^24);
wiregauge.internal.whole('inBytes', inBytes, 0, 2^32 - 1);
wiregauge.internal.whole('kind', kind, 0, 15);
sequence = double(sequence(:)');
count = numel(sequence);
frames = zeros(outBytes, count, 'uint8');
frames(1, :) = 167; % 0xA7
frames(2, :) = 16 + kind; % version 1
frames(5:8, :) = littleEndian(sequence);
frames(9:12, :) = repmat(littleEndian(outBytes - 16), 1, count);
frames(13:16, :) = repmat(littleEndian(inBytes), 1, count);
crc = double(wiregauge.pure.check(frames(1:16, :)));
frames(3, :) = mod(crc, 256);
frames(4, :) = floor(crc / 256);
if kind == 1
    frames(17:end, :) = wiregauge.pure.pattern(sequence, outBytes - 16);
end
end

function bytes = littleEndian(values)
% The four bytes of each value, a column each.
bytes = mod(floor(bsxfun(@rdivide, double(values), 256.^(0:3)')), 256);
end
