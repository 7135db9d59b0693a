function run = stored(name)
%STORED  Read a stored run.
%   run = wiregauge.internal.stored(name) returns a struct with the properties of wiregauge.Run; see wiregauge.loadRun.

directory = wiregauge.internal.runDirectory(name);
if exist('wiregauge_mex', 'file') == 3
    try
        file = wiregauge.internal.decoded(wiregauge_mex('runJson', directory));
        samples = wiregauge_mex('runSamples', directory, wiregauge.internal.columnNames(file.kind));
    catch problem
        wiregauge.internal.fail(problem);
    end
else
    [file, samples] = exported(directory);
end
state = file.state;
problem = '';
if isstruct(state)
    state = 'failed';
    problem = wiregauge.internal.inMatlab(file.state.failed.error);
end
run = struct('directory', directory, 'kind', file.kind, 'state', state, 'problem', problem, 'address', '', 'plan', file.plan, ...
    'conditions', file.conditions, 'warnings', {cell(0, 1)}, 'points', struct([]), 'tables', '');
if isfield(file.plan, 'address')
    run.address = file.plan.address;
end
[run.tables, run.warnings] = shown(directory);
points = cell(1, numel(file.points));
for k = 1:numel(points)
    one = wiregauge.internal.pointFigures(file.kind, file.points(k));
    if strcmp(file.kind, 'exchange')
        [one.rtt_ns, one.trt_ns] = responses(samples(k), one.depth);
    end
    one.summary = file.points(k);
    one.samples = samples(k);
    points{k} = one;
end
if ~isempty(points)
    run.points = [points{:}];
end
end

function [tables, warnings] = shown(directory)
% Tables and warnings, which the program makes out of the figures.
tables = '';
warnings = cell(0, 1);
try
    text = wiregauge.internal.tables(directory, {'--quiet'});
    full = wiregauge.internal.tables(directory, {'--quiet', '--full'});
catch problem
    % With the MEX file, samples and figures need no program.
    if ~strcmp(problem.identifier, 'wiregauge:missing')
        rethrow(problem);
    end
    warning(problem.identifier, 'the run has no tables and no warnings here: %s', problem.message);
    return
end
warnings = regexp(full, '^W\d+: [^\n]*(?:\n +\S[^\n]*)*', 'match', 'lineanchors')';
warnings = regexprep(warnings, '\s*\n\s*', ' ');
warnings = reshape(warnings, [], 1);
tables = regexprep(text, '\s+$', sprintf('\n'));
end

function [file, samples] = exported(directory)
% Without the MEX file: through the wiregauge program and a CSV file, some seconds for a million samples.
csv = [tempname(), '.csv'];
json = [tempname(), '.json'];
tidy = onCleanup(@() cellfun(@wiregauge.internal.removeFile, {csv, json}));
export(directory, '--json', json);
file = wiregauge.internal.decoded(fileread(json));
samples = struct([]);
if isempty(file.points)
    return
end
export(directory, '--csv', csv);
columns = wiregauge.internal.samples(csv, file.kind);
% The rows of a point stand together: they are cut where the number changes.
ends = [find(diff(columns.point)); numel(columns.point)];
begins = [1; ends(1:end - 1) + 1];
numbers = columns.point(begins);
names = wiregauge.internal.columnNames(file.kind);
for k = 1:numel(file.points)
    part = find(numbers == file.points(k).point.index);
    rows = zeros(0, 1);
    if ~isempty(part)
        rows = (begins(part):ends(part))';
    end
    for n = 1:numel(names)
        if isfield(columns, names{n}) % The CSV file has no device ticks.
            samples(k).(names{n}) = columns.(names{n})(rows);
        else
            samples(k).(names{n}) = NaN(numel(rows), 1);
        end
    end
end
end

function [rtt, trt] = responses(samples, depth)
% RTT of the correct responses, and TRT: from the start of each request to that of the next one, but for the first, which begin
% without a response until so many are outstanding.
right = samples.phase == 2 & (samples.status == 0 | samples.status == 4);
rtt = samples.rtt_ns(right);
% A late or repeated answer is a further row of its request.
requests = samples.phase == 2 & samples.status ~= 3 & samples.status ~= 2;
[numbers, order] = sort(samples.sequence(requests));
starts = samples.start_ns(requests);
trt = diff(starts(order));
if ~isempty(trt)
    trt = trt(numbers(1:end - 1) >= numbers(1) + depth - 1);
end
end

function export(run, form, file)
[status, ~, said] = wiregauge.internal.command({'export', form, file, '--', run});
if status ~= 0
    wiregauge.internal.fail('wiregauge:run', '%s', wiregauge.internal.errorText(said));
end
end
