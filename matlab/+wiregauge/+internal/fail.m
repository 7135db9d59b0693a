function fail(identifier, template, varargin)
%FAIL  End in an error whose text begins with the function that the user called.
%   wiregauge.internal.fail('wiregauge:argument', 'Depth must be at least %d', 1), in or below wiregauge.exchange, is the error
%   "wiregauge.exchange: Depth must be at least 1". In a method of a device it begins with dev.exchange, of a run with run.figures.
%   wiregauge.internal.fail(problem) does so with the error of a call of wiregauge_mex.

if nargin == 1
    problem = identifier;
    if ~strncmp(problem.identifier, 'wiregauge:', 10)
        rethrow(problem);
    end
    identifier = problem.identifier;
    text = regexprep(problem.message, '^wiregauge_mex: ', ''); % Octave begins with the name of the MEX file.
else
    text = sprintf(template, varargin{:});
end
text = strrep(text, 'hint: use an exchange', 'hint: use dev.exchange');
text = onLines(text);
error(identifier, '%s', [called(), text]);
end

function text = onLines(text)
% The runs that an ambiguous name matches, one below the other.
[names, between] = regexp(text, '(?<=\<it matches) [^\n]*(?=\. Type more of the name)', 'match', 'split');
if ~isempty(names)
    text = sprintf('%s\n  %s\n%s', between{1}, strrep(strtrim(names{1}), ', ', sprintf('\n  ')), between{2}(3:end));
end
end

function name = called()
% The outermost function of the package outside of +internal, with a colon.
package = fileparts(fileparts(mfilename('fullpath')));
stack = dbstack('-completenames');
name = '';
for k = numel(stack):-1:1
    file = stack(k).file;
    if ~strncmp(file, package, numel(package))
        continue
    end
    parts = regexp(file(numel(package) + 1:end), '\w+(?=[\\/.])', 'match');
    if isempty(parts) || strcmp(parts{1}, 'internal')
        continue
    end
    if any(strcmp(parts{end}, {'Device', 'Run'}))
        names = struct('Device', 'dev.', 'Run', 'run.');
        name = [names.(parts{end}), regexp(stack(k).name, '\w+$', 'match', 'once'), ': '];
    else
        name = ['wiregauge.', strjoin(parts, '.'), ': '];
    end
    return
end
end
