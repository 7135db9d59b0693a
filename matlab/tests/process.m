function [word, stop] = process(pattern, program, words)
%PROCESS  A process of its own, for a test.
%   [word, stop] = process(pattern, program, words) starts a program and returns the first token of pattern in what it writes to
%   standard output or standard error. It is ended when stop is cleared.

said = tempname();
line = strjoin(cellfun(@(one) ['''', one, ''''], [{program}, words], 'UniformOutput', false), ' ');
[~, number] = system(sprintf('%s >%s 2>&1 </dev/null & echo $!', line, said));
stop = onCleanup(@() finish(str2double(number), said));
begun = tic;
while toc(begun) < 10
    tokens = regexp(fileread(said), pattern, 'tokens', 'once', 'lineanchors');
    if ~isempty(tokens)
        word = tokens{1};
        return
    end
    pause(0.01);
end
error('%s did not start: %s', program, fileread(said));
end

function finish(pid, said)
system(sprintf('kill %d 2>/dev/null', pid));
if exist(said, 'file')
    delete(said);
end
end
