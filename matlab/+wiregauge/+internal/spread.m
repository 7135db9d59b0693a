function [chosen, note] = spread(count, what)
%SPREAD  Which of many series are drawn: at most ten, since more cannot be distinguished.
%   [chosen, note] = wiregauge.internal.spread(24, 'points') returns the numbers of 10, evenly from the first to the last, and the
%   note ', 10 of 24 points' for the title; of ten or fewer all, and no note.

most = 10;
chosen = 1:count;
note = '';
if count > most
    chosen = round(linspace(1, count, most));
    note = sprintf(', %d of %d %s', most, count, what);
end
end
