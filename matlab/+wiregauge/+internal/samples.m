function values = samples(file, kind)
%SAMPLES  Samples out of a CSV file that `wiregauge export` wrote.
%   values = wiregauge.internal.samples(file, kind) returns a struct of columns, N-by-1 doubles, named as in the Parquet files
%   (docs/run-format.md): start_ns, rtt_ns and so on, in nanoseconds. Words are numbers: phase 0 first, 1 warm-up, 2 measured;
%   status 0 ok, 1 lost, 2 late, 3 duplicated, 4 reordered, 5 corrupted, 6 unexpected, of a stream 0 ok, 1 stalled, 2 cancelled,
%   3 failed; way and direction 0 in, 1 out, 2 both; xrun 0 none, 1 overrun, 2 underrun, 3 both. These are the C library's numbers too.
%
%   Each word becomes a digit and spaces, all at once; then the text is numbers only, and read in one call. Of what MATLAB and
%   Octave share, that is the quickest way: textscan takes twice as long in Octave. No field is quoted (docs/run-format.md).

text = fileread(file);
first = find(text == 10, 1);
header = strsplit(text(1:first - 1), ',');
text = text(first + 1:end);
if strcmp(header{end}, 'path')
    % What processes the blocks of a loop: text, which plan.points has too.
    text = regexprep(text, ',[^,\n]*\n', '\n');
    header(end) = [];
end
% An empty field was not measured: 0, as in the Parquet files.
empty = text == ',' & [text(2:end) == ',' | text(2:end) == 10, false];
filled = repmat('0', 1, numel(text) + sum(empty));
filled((1:numel(text)) + [0, cumsum(empty(1:end - 1))]) = text;
text = filled;
% Words that begin alike in different kinds of runs.
both = 2;
un = {'unexpected', 6};
if strcmp(kind, 'loop')
    both = 3;
    un = {'underrun', 2};
end
% No two of them begin with the same two letters.
words = {'first', 0; 'warm-up', 1; 'measured', 2; ...
    'ok', 0; 'lost', 1; 'late', 2; 'duplicated', 3; 'reordered', 4; 'corrupted', 5; ...
    'stalled', 1; 'cancelled', 2; 'failed', 3; ...
    'in', 0; 'out', 1; 'both', both; 'none', 0; 'overrun', 1; un{:}};
digits = zeros(1, 65536, 'uint8');
for k = 1:size(words, 1)
    digits(256 * words{k, 1}(1) + words{k, 1}(2)) = uint8('0') + words{k, 2};
end
letters = text >= 'a' | text == '-';
begins = find(letters & ~[false, letters(1:end - 1)]);
found = digits(256 * double(text(begins)) + double(text(begins + 1)));
if any(found == 0)
    wiregauge.internal.fail('wiregauge:run', ...
        '%s has names that this package does not know: is the package older than the wiregauge program?', file);
end
text(letters | text == ',') = ' ';
text(begins) = char(found);
numbers = sscanf(text, '%f');
if mod(numel(numbers), numel(header)) ~= 0
    wiregauge.internal.fail('wiregauge:run', '%s has an unexpected format: %d numbers for %d columns', file, numel(numbers), numel(header));
end
numbers = reshape(numbers, numel(header), [])';
for k = 1:numel(header)
    [name, scale] = columnName(header{k});
    if scale == 1
        values.(name) = numbers(:, k);
    else
        values.(name) = round(numbers(:, k) * scale);
    end
end
end

function [name, scale] = columnName(name)
% As in the Parquet files, where the CSV has the names of the literature.
scale = 1;
switch name
    case 'delta_time_us'
        name = 'rtt_ns';
        scale = 1000;
    case 'bytes_sent'
        name = 'bytes_out';
    case 'bytes_received'
        name = 'bytes_in';
    otherwise
        if numel(name) > 3 && strcmp(name(end - 2:end), '_us')
            % Three decimals in the file: no nanosecond is lost.
            name = [name(1:end - 2), 'ns'];
            scale = 1000;
        end
end
end
