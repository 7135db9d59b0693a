function text = label(point)
%LABEL  What a point is called in a figure.
%   text = wiregauge.internal.label(point) returns sizes and depth.

number = @wiregauge.internal.thousands;
text = sprintf('OUT %s B, IN %s B, depth %d: n = %s', number(point.out_bytes), number(point.in_bytes), point.depth, ...
    number(numel(point.rtt_ns)));
end
