function [status, output, said] = command(words)
%COMMAND  Run the wiregauge program.
%   [status, output, said] = wiregauge.internal.command(words) runs it with the arguments in the cell array words and returns its
%   exit code, its standard output and its standard error.

noise = [tempname(), '.txt'];
tidy = onCleanup(@() wiregauge.internal.removeFile(noise));
% Without colours, also where CLICOLOR_FORCE is set.
line = strjoin(cellfun(@quoted, [{wiregauge.internal.binary(), '--plain'}, words], 'UniformOutput', false), ' ');
if ispc()
    % The shell of Windows takes the outer quotes off a line that begins with one.
    line = ['cd . && ', line];
end
[status, output] = system([line, ' 2>', quoted(noise)]);
said = '';
if isfile(noise)
    said = strtrim(fileread(noise));
end
end

function word = quoted(word)
% One word for the shell, whatever it holds.
if ispc()
    word = ['"', strrep(word, '"', '""'), '"'];
else
    word = ['''', strrep(word, '''', '''\'''''), ''''];
end
end
