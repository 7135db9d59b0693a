function options = series(number)
%SERIES  Colour and marker of a series, as in the figures of the report: neighbours differ in both.
%   options = wiregauge.internal.series(number) returns pairs for plot. The four markers are hollow in the second round.

markers = 'os^d';
colour = wiregauge.internal.colours(number);
inside = colour;
if mod(floor((number - 1) / numel(markers)), 2) == 1
    inside = 'white';
end
options = {'color', colour, 'marker', markers(mod(number - 1, numel(markers)) + 1), 'markerfacecolor', inside};
end
