function bytes = pattern(sequence, count, index, varargin)
%PATTERN  Payload of requests and responses: byte i of sequence number s is mod(s + i, 251).
%   bytes = wiregauge.pure.pattern(sequence, count) returns a count-by-K uint8 matrix for the K numbers in sequence, one
%   payload a column. wiregauge.pure.pattern(sequence, count, index) begins with byte number index (from 0).
%
%   Example:
%     bytes = wiregauge.pure.pattern(7, 32)'

wiregauge.internal.given(nargin, 2, 3, 'bytes = wiregauge.pure.pattern(7, 32)');
if nargin < 3
    index = 0;
end
wiregauge.internal.sequence(sequence);
wiregauge.internal.whole('count', count, 0, Inf);
wiregauge.internal.whole('index', index, 0, Inf);
places = double(index) + (0:count - 1)';
bytes = uint8(mod(bsxfun(@plus, double(sequence(:)'), places), 251));
end
