function colour = colours(number)
%COLOURS  The colours of the figures, distinguished by colour-blind people (Okabe and Ito).
%   colour = wiregauge.internal.colours(number) returns RGB, 1-by-3; they repeat after six.

all = [0 114 178; 213 94 0; 0 158 115; 204 121 167; 230 159 0; 86 180 233] / 255;
colour = all(mod(number - 1, size(all, 1)) + 1, :);
end
