% Runs every test of this folder in Octave, and says so in the words of cargo, which .ci/run counts.
%
%   octave-cli -qf matlab/tests/run_tests.m [NAME...]     some of them: a part of a test's name
%
% Tests are the functions of the files test_*.m; each returns a cell array of handles, whose names read as sentences.

here = fileparts(mfilename('fullpath'));
addpath(here, fileparts(here));
wanted = argv();
wanted(cellfun(@(word) any(word == filesep()), wanted)) = [];
files = dir(fullfile(here, 'test_*.m'));
passed = 0;
failed = 0;
for f = 1:numel(files)
    [~, name] = fileparts(files(f).name);
    tests = feval(name);
    for t = 1:numel(tests)
        sentence = func2str(tests{t});
        if ~isempty(wanted) && ~any(cellfun(@(word) ~isempty(strfind(sentence, word)), wanted))
            continue
        end
        begun = tic;
        try
            tests{t}();
            passed = passed + 1;
            printf('ok      %s (%.2f s)\n', sentence, toc(begun));
        catch problem
            failed = failed + 1;
            printf('FAILED  %s\n    %s: %s\n', sentence, problem.identifier, problem.message);
            for s = 1:numel(problem.stack)
                printf('    at %s:%d\n', problem.stack(s).name, problem.stack(s).line);
            end
        end
    end
end
outcome = {'ok', 'FAILED'};
printf('test result: %s. %d passed; %d failed; of matlab/ in Octave %s\n', outcome{1 + (failed > 0)}, passed, failed, version());
exit(min(failed, 1));
