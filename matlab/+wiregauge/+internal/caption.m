function caption(text_)
%CAPTION  What a panel shows, in its upper right corner, above the bars.
%   wiregauge.internal.caption(text) writes it into the present axes.

text(0.985, 0.86, text_, 'units', 'normalized', 'horizontalalignment', 'right', 'fontsize', 10);
end
