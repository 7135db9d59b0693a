function heading(run, note)
%HEADING  What a figure shows, above its axes.
%   wiregauge.internal.heading(run, note) writes the address of the run, and the note which of its series are drawn.

title([run.address, note], 'fontsize', 10, 'fontweight', 'normal', 'interpreter', 'none');
end
