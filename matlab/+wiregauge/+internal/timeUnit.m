function [factor, unit] = timeUnit(longest)
%TIMEUNIT  The unit of an axis of time, as in the figures of the report.
%   [factor, unit] = wiregauge.internal.timeUnit(longest) returns the nanoseconds in one unit, and its name, for times up to longest.

factor = 1e3;
unit = native2unicode(uint8([194 181 115]), 'UTF-8'); % Microseconds; MATLAB before R2020a reads M-files in another encoding.
if longest >= 1e6
    factor = 1e6;
    unit = 'ms';
end
end
