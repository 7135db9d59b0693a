function run = loadRun(directory)
%LOADRUN  Load a stored run: plan, conditions, a struct for each point, and all samples.
%   run = wiregauge.loadRun(directory) returns a struct:
%
%     directory, kind ('exchange', 'stream', 'loop'), state, address
%     plan, conditions, warnings    as in run.json (docs/run-format.md)
%     points                        a struct array, one element for each point:
%       summary                     all figures of the point, as in run.json
%       samples                     columns, one row for each exchange, transfer or block, in nanoseconds and bytes; words as
%                                   numbers: phase 0 first, 1 warm-up, 2 measured; status 0 ok, 1 lost, 2 late, 3 duplicated,
%                                   4 reordered, 5 corrupted, 6 unexpected; for a stream 0 ok, 1 stalled, 2 cancelled, 3 failed, and
%                                   way 0 in, 1 out; for a loop xrun 0 none, 1 overrun, 2 underrun, 3 both
%       for an exchange run also     out_bytes, in_bytes, depth; rtt_ns (of correct answers, without first and warm-up), trt_ns
%
%   wiregauge.loadRun('last') loads the last stored run; a name, or its beginning, that of `wiregauge runs`.
%
%   Loading a million samples is fast with the MEX file and takes some seconds without; device ticks are then NaN.
%
%   Errors: wiregauge:run if there is no run, or it cannot be read; wiregauge:missing without the wiregauge program.

directory = wiregauge.internal.text(directory, 'the run');
if exist('wiregauge_mex', 'file') == 3
    file = jsondecode(wiregauge_mex('runJson', directory));
    samples = wiregauge_mex('runSamples', directory, wiregauge.internal.columnNames(file.kind));
else
    [file, samples] = exported(directory);
end
run.directory = directory;
run.kind = file.kind;
run.state = file.state;
run.address = '';
if isfield(file.plan, 'address')
    run.address = file.plan.address;
end
run.plan = file.plan;
run.conditions = file.conditions;
run.warnings = file.warnings;
run.points = struct([]);
summaries = file.points;
if ~iscell(summaries)
    summaries = num2cell(summaries);
end
for k = 1:numel(summaries)
    one.summary = summaries{k};
    one.samples = samples(k);
    if strcmp(run.kind, 'exchange')
        one = exchanges(one);
    end
    run.points = [run.points, one];
end
end

function [file, samples] = exported(directory)
% Without the MEX file: through the wiregauge program and a CSV file, some seconds for a million samples.
csv = [tempname(), '.csv'];
json = [tempname(), '.json'];
tidy = onCleanup(@() cellfun(@wiregauge.internal.removeFile, {csv, json}));
export(directory, '--json', json);
file = jsondecode(fileread(json));
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
    point = file.points(k);
    if iscell(point)
        point = point{1};
    end
    part = find(numbers == point.point.index);
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

function one = exchanges(one)
one.out_bytes = one.summary.point.out_bytes;
one.in_bytes = one.summary.point.in_bytes;
one.depth = one.summary.point.depth;
samples = one.samples;
right = samples.phase == 2 & (samples.status == 0 | samples.status == 4);
one.rtt_ns = samples.rtt_ns(right);
% A late or repeated answer is a further row of its request.
requests = samples.phase == 2 & samples.status ~= 3 & samples.status ~= 2;
[~, order] = sort(samples.sequence(requests));
starts = samples.start_ns(requests);
one.trt_ns = diff(starts(order));
end

function export(run, form, file)
[status, ~, said] = wiregauge.internal.command({'export', form, file, '--', run});
if status ~= 0
    error('wiregauge:run', '%s', said);
end
end
