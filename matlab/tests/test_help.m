function tests = test_help()
%TEST_HELP  Help of the package: its list of functions, and that every example of a help text runs.

tests = {@the_list_of_the_package_has_every_function_with_its_first_line, @every_function_has_an_example, ...
    @the_examples_of_help_texts_run, @the_first_example_of_the_manual_runs, @the_example_programs_run};
warning('off', 'Octave:gnuplot-graphics');
end

function folder = package()
folder = fullfile(fileparts(fileparts(mfilename('fullpath'))), '+wiregauge');
end

function names = public()
files = dir(fullfile(package(), '*.m'));
names = regexprep({files.name}, '\.m$', '');
names(strcmp(names, 'Contents')) = [];
end

function names = all_public()
files = dir(fullfile(package(), '+pure', '*.m'));
names = [public(), strcat('pure.', regexprep({files.name}, '\.m$', ''))];
end

function text = help_of(name)
text = get_help_text(['wiregauge.', name]);
end

function the_list_of_the_package_has_every_function_with_its_first_line()
list = help_of('Contents');
for name = public()
    first = regexp(help_of(name{1}), '^\s*\w+  ([^\n]*)', 'tokens', 'once'){1};
    listed = regexp(list, ['^\s*', name{1}, '\s+- ([^\n]*)$'], 'tokens', 'once', 'lineanchors');
    assert(~isempty(listed), [name{1}, ' is not in Contents.m']);
    assert(listed{1}, first);
end
examples = dir(fullfile(package(), '..', 'examples', '*.m'));
for k = 1:numel(examples)
    assert(~isempty(strfind(list, regexprep(examples(k).name, '\.m$', ''))), examples(k).name);
end
listed = regexp(list, '^\s*(\w+)\s+- ', 'tokens', 'lineanchors');
assert(sort(cellfun(@(one) one{1}, listed, 'UniformOutput', false)), sort(public()));
end

function lines = example_of(name)
% The indented lines below `Example:`.
lines = regexp(help_of(name), 'Example:\n((?:     [^\n]*\n)+)', 'tokens', 'once');
if isempty(lines)
    lines = '';
else
    lines = lines{1};
end
end

function every_function_has_an_example()
for name = all_public()
    assert(~isempty(example_of(name{1})), name{1});
end
end

function the_examples_of_help_texts_run()
[address, stop] = responder('tcp://127.0.0.1:0');
% What 'last' finds.
wiregauge.exchange(address, 'Count', 50);
for name = all_public()
    lines = strrep(example_of(name{1}), 'tcp://127.0.0.1:7700', address);
    try
        evalc('run_alone(lines);');
    catch problem
        error('the example of wiregauge.%s: %s: %s', name{1}, problem.identifier, problem.message);
    end
    close('all');
end
end

function the_first_example_of_the_manual_runs()
[address, stop] = responder('tcp://127.0.0.1:0');
[serial, also] = responder('pty:');
lines = regexp(fileread(fullfile(package(), '..', '..', 'docs', 'matlab.md')), '```matlab\n(.*?)```', 'tokens', 'once'){1};
lines = strrep(strrep(lines, 'tcp://127.0.0.1:7700', address), 'serial:///dev/ttyACM0', serial);
lines = strrep(regexprep(lines, '^addpath[^\n]*\n', ''), '10000', '50');
assert(~isempty(strfind(lines, serial)));
evalc('run_alone(lines);');
close('all');
end

function run_alone(lines)
before = get(0, 'defaultfigurevisible');
restore = onCleanup(@() set(0, 'defaultfigurevisible', before));
set(0, 'defaultfigurevisible', 'off');
eval(lines);
end

function the_example_programs_run()
folder = fullfile(package(), '..', 'examples');
addpath(folder);
restore = onCleanup(@() rmpath(folder));
[address, stop] = responder('tcp://127.0.0.1:0');
[instrument, also] = responder('tcp://127.0.0.1:0', '--protocol', 'scpi');
[printed, run] = captured(@measure_link, address);
assert(numel(run.points), 9);
assert(~isempty(strfind(printed, 'report.html')));
[printed, volts] = captured(@ask_instrument, instrument);
assert(numel(volts), 20);
assert(all(isfinite(volts)));
[~, result] = captured(@check_control_loop, address);
assert(numel(result.points), 2);
[~, replies] = captured(@find_setting, address);
assert(size(replies), [100 50]);
examples = dir(fullfile(folder, '*.m'));
assert(numel(examples), 4); % Each of them is run above.
end

function [printed, result] = captured(program, address)
result = [];
printed = evalc('result = program(address);');
end
