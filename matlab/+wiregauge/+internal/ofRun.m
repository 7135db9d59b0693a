function text = ofRun(output)
%OFRUN  What the program prints of a run, in the words of this package.
%   text = wiregauge.internal.ofRun(output) is wiregauge.internal.inMatlab(output), with the call that prints all tables of a run. The
%   command that repeats the measurement stays: it is one for a shell.

[commands, between] = regexp(output, '(?<=^measured with: )[^\n]*', 'match', 'split', 'lineanchors');
between = cellfun(@wiregauge.internal.inMatlab, between, 'UniformOutput', false);
both = [between; [commands, {''}]];
text = regexprep([both{:}], '(all tables[^:\n]*|intervals): ''Full'', true', '$1: run.show(''Full'', true)');
end
