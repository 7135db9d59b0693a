function [factor, unit] = rateUnit(highest)
%RATEUNIT  The unit of an axis of throughput, as in the figures of the report.
%   [factor, unit] = wiregauge.internal.rateUnit(highest) returns the bytes per second in one unit, and its name, for rates up to highest.

factor = 1e3;
unit = 'kB/s';
if highest >= 1e6
    factor = 1e6;
    unit = 'MB/s';
end
end
