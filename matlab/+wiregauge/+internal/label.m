function text = label(point)
%LABEL  What a point is called in a figure.
%   text = wiregauge.internal.label(point) returns sizes and depth.

text = sprintf('OUT %d B, IN %d B, depth %d (R = %d): n = %d', point.out_bytes, point.in_bytes, point.depth, point.depth - 1, ...
    numel(point.rtt_ns));
end
